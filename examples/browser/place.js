// Where the page is, as its URL's hash tells: #/apps/v1/deployments?ns=shop&q=web&sort=-age&sel=shop/cart

/** @returns {{group, version, plural, namespace, search, sort, descending, selected}} texts, and descending */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const [plural = '', version = '', group = ''] = path.split('/').map(decode).reverse()
  const asked = new URLSearchParams(query)
  const sort = asked.get('sort') ?? ''
  return {
    group, version, plural,
    namespace: asked.get('ns') ?? '',
    search: asked.get('q') ?? '',
    sort: sort.replace(/^-/, ''),
    descending: sort.startsWith('-'),
    selected: asked.get('sel') ?? '',
  }
}

function decode(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // somebody typed a %
  }
}

export function format({ group, version, plural, namespace, search, sort, descending, selected }) {
  const path = [group, version, plural].filter(Boolean).map(encodeURIComponent).join('/')
  const query = Object.entries({ ns: namespace, q: search, sort: sort && (descending ? '-' : '') + sort, sel: selected })
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`)
    .join('&')
  return `#/${path}${query && `?${query}`}`
}

/** The collection alone, as text to compare. */
export const collectionOf = ({ group, version, plural }) => [group, version, plural].filter(Boolean).join('/')
