// Runs the task in the query of the page's URL. The command encodes spaces in the query as plus signs.
import { report } from './report.mjs'

await report(location.origin, JSON.parse(decodeURIComponent(location.search.slice(1).replaceAll('+', ' '))))
