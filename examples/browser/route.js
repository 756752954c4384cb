// Converts the page's route to and from the hash of its URL:
// #/apps/v1/deployments?ns=shop&q=web&status=Failed&sort=-age&sel=shop/cart&tab=yaml

/**
 * @typedef {object} Route
 * @property {string} group
 * @property {string} version
 * @property {string} plural
 * @property {string} namespace several namespaces are separated by commas; "" for all namespaces
 * @property {string} search
 * @property {string} sort the id of a column
 * @property {boolean} descending
 * @property {string} selected the key of an object
 * @property {string} tab the tab of the details pane, or "" for the first tab
 * @property {string[]} columns the ids of the shown columns; empty for the default columns
 * @property {string[]} statuses the statuses of the shown objects; empty for all objects
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s) // splits only at the first "?"
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
    tab: asked.get('tab') ?? '',
    statuses: asked.getAll('status'),
    columns: (asked.get('cols') ?? '').split(',').filter(Boolean),
  }
}

/**
 * Decodes a path segment. It returns an invalid encoding unchanged because a user may have typed a %.
 * @param {string} part
 */
function decode(part) {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}

/** @param {Pick<Route, 'group' | 'version' | 'plural'> & Partial<Route>} route */
export function format({ group, version, plural, namespace = '', search = '', sort = '', descending, selected = '', tab = '', statuses = [], columns = [] }) {
  const path = [group, version, plural].filter(Boolean).map(encodeURIComponent).join('/')
  /** @type {[string, string][]} */
  const pairs = [['ns', namespace], ['q', search], ...statuses.map((status) => /** @type {[string, string]} */ (['status', status])),
    ['sort', sort && (descending ? '-' : '') + sort], ['cols', columns.join()], ['sel', selected], ['tab', selected && tab]]
  // Slashes and commas stay readable, because a hash may contain them.
  const query = pairs.filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/').replaceAll('%2C', ',')}`)
    .join('&')
  return `#/${path}${query && `?${query}`}`
}

/**
 * Returns the namespaces of a route; none for all namespaces.
 * @param {string} namespace
 */
export const namespacesOf = (namespace) => namespace.split(/[\s,]+/).filter(Boolean)

/**
 * Reports whether a route shows only some objects of its namespace.
 * @param {Pick<Route, 'search' | 'statuses'>} route
 */
export const isFiltered = ({ search, statuses }) => !!search || statuses.length > 0

/**
 * Returns the collection as text, for example "apps/v1/deployments".
 * @param {Pick<Route, 'group' | 'version' | 'plural'>} route
 */
export const collectionOf = ({ group, version, plural }) => [group, version, plural].filter(Boolean).join('/')
