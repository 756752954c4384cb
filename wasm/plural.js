/** Returns the regular plural of a kind, for example "networkpolicies". @param {string} kind */
export function pluralOf(kind) {
  const name = kind.toLowerCase()
  if (name === 'endpoints') return name // the kind Endpoints is already a plural
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : /(s|x|ch|sh)$/.test(name) ? `${name}es` : `${name}s`
}
