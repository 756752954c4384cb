// Provides the measurements as a global variable, because browsers.mjs calls them from outside with page.evaluate().
import { contenders } from './contenders.js'
import { makeCourses } from './courses.js'

globalThis.courses = makeCourses(location.origin, contenders)
