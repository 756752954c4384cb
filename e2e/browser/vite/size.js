import { init, listWatch } from 'listwatch'

globalThis.used = [init, listWatch]
