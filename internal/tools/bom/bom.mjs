// Adds a bill of materials in the CycloneDX 1.6 format to a release folder that contains lwcat for each platform. It
// lists Go and all modules in these programs. It therefore also covers the npm package, because the WASM module
// contains only some of them. The output is reproducible. Usage: node bom.mjs FOLDER
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2]
const programs = readdirSync(folder).filter((name) => name.startsWith('lwcat-'))
if (!programs.length) throw new Error(`no lwcat program in ${folder}`)

const component = (type, { Path: name, Version: version }) => {
  const purl = `pkg:golang/${name}@${version}`
  return { 'bom-ref': purl, name, purl, type, version }
}
let main
const libraries = new Map()
for (const program of programs) {
  const build = JSON.parse(execFileSync('go', ['version', '-m', '-json', join(folder, program)], { encoding: 'utf8' }))
  main = component('application', build.Main)
  for (const dependency of [...build.Deps, { Path: 'std', Version: build.GoVersion.replace('go', '') }]) {
    const library = component('library', dependency)
    libraries.set(library.purl, library)
  }
}
const purls = [...libraries.keys()].sort()
writeFileSync(join(folder, 'sbom.cdx.json'), JSON.stringify({
  bomFormat: 'CycloneDX', components: purls.map((purl) => libraries.get(purl)), dependencies: [{ dependsOn: purls, ref: main['bom-ref'] }],
  metadata: { component: main }, specVersion: '1.6', version: 1,
}, null, 2) + '\n')
