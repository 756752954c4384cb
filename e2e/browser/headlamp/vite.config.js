const proxy = { '/clusters/main': { target: process.env.SERVER, rewrite: (path) => path.slice('/clusters/main'.length) } }

export default { server: { proxy } }
