// Sets the theme before the page is rendered, so that the page does not flicker. Unlike modules, a plain script runs
// before the first rendering.
{
  const KEY = 'listwatch-theme', THEMES = ['auto', 'light', 'dark']
  const LOOKS = [['◐', 'system setting'], ['☀', 'light'], ['☾', 'dark']]
  /** @type {(error: unknown) => void} */
  const warn = (error) => { // the browser forbids storage, or the storage is full
    const detail = { kind: 'theme', text: `The theme applies only to this page because the browser cannot save it: ${error instanceof Error ? error.message : error}` }
    document.dispatchEvent(new CustomEvent('notice', { detail }))
  }
  const read = () => {
    try {
      return localStorage.getItem(KEY)
    } catch (error) {
      document.addEventListener('DOMContentLoaded', () => warn(error))
      return null
    }
  }
  const write = (/** @type {string} */ value) => {
    try {
      localStorage.setItem(KEY, value)
    } catch (error) {
      warn(error)
    }
  }
  let chosen = Math.max(0, THEMES.indexOf(read() ?? ''))
  const show = () => {
    document.documentElement.dataset.theme = THEMES[chosen]
    const button = document.getElementById('theme')
    if (!button) return
    const [sign, name] = LOOKS[chosen]
    button.textContent = sign
    button.title = `Theme: ${name} (t)`
    button.setAttribute('aria-label', `Theme: ${name}`)
    document.dispatchEvent(new Event('themechange'))
  }
  show()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
  document.addEventListener('DOMContentLoaded', () => {
    show()
    document.getElementById('theme')?.addEventListener('click', () => {
      chosen = (chosen + 1) % THEMES.length
      write(THEMES[chosen])
      show()
    })
  })
}
