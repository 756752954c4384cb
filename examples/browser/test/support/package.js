// Replaces the package listwatch with support/listwatch.js. Import this module before all modules that import the
// package.
import { register } from 'node:module'

const fake = new URL('./listwatch.js', import.meta.url).href
register(`data:text/javascript,${encodeURIComponent(`export const resolve = (specifier, context, next) =>
  next(specifier === './listwatch/index.js' ? ${JSON.stringify(fake)} : specifier, context)`)}`)
