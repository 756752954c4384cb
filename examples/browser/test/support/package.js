// Replaces the package by collections that a test controls. Import it before the modules that import the package.
import { register } from 'node:module'

const fake = new URL('./listwatch.js', import.meta.url).href
register(`data:text/javascript,${encodeURIComponent(`export const resolve = (specifier, context, next) =>
  next(specifier === './listwatch/index.js' ? ${JSON.stringify(fake)} : specifier, context)`)}`)
