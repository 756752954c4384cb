// The type of `listwatch/worker` and `listwatch/listwatch.wasm` in a bundler that imports files as URLs.
declare const url: string
export default url
