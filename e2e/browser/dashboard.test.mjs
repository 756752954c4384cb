import { dashboard } from './dashboard.mjs'

dashboard('chrome')
