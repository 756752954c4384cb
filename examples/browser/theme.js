// The theme, set before anything is drawn: this script is no module for that reason.
{
  const KEY = 'listwatch-theme', THEMES = ['auto', 'light', 'dark']
  const LOOKS = { auto: ['◐', 'as the system has it'], light: ['☀', 'light'], dark: ['☾', 'dark'] }
  const kept = () => {
    try {
      return localStorage.getItem(KEY)
    } catch {
      return null // the user forbade it
    }
  }
  let theme = THEMES.includes(kept()) ? kept() : 'auto'
  const show = () => {
    document.documentElement.dataset.theme = theme
    const button = document.getElementById('theme')
    if (!button) return
    const [sign, name] = LOOKS[theme]
    button.textContent = sign
    button.title = `Theme: ${name} (t)`
    button.setAttribute('aria-label', `Theme: ${name}`)
    document.dispatchEvent(new Event('themechange'))
  }
  show()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
  document.addEventListener('DOMContentLoaded', () => {
    show()
    document.getElementById('theme').addEventListener('click', () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]
      try {
        localStorage.setItem(KEY, theme)
      } catch { /* then it is for this page only */ }
      show()
    })
  })
}
