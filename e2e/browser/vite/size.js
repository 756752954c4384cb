import { init, listWatch } from 'listwatch'
import { useListWatch, useListWatches, useObject } from 'listwatch/react'

globalThis.used = [init, listWatch, useListWatch, useListWatches, useObject]
