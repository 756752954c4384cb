// Uses all parts of the package that count for its size; see size.config.js.
import { init, listWatch } from 'listwatch'
import { useListWatch, useListWatches, useObject } from 'listwatch/react'

globalThis.used = [init, listWatch, useListWatch, useListWatches, useObject]
