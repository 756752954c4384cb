import { contenders } from './contenders.js'
import { makeCourses } from './courses.js'

globalThis.courses = makeCourses(location.origin, contenders)
