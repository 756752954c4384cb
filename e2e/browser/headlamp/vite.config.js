// Serves the API server at the path that Headlamp uses for a cluster with the name "main"; see host.js.
const proxy = { '/clusters/main': { target: process.env.SERVER, rewrite: (path) => path.slice('/clusters/main'.length) } }

export default { server: { proxy } }
