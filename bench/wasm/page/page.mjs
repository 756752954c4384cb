// Runs the task in the query of the page's URL.
import { report } from './report.mjs'

await report(location.origin, JSON.parse(decodeURIComponent(location.search.slice(1).replaceAll('+', ' '))))
