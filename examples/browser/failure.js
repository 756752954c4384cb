// Shows failures of the page itself: a script that does not load, an exception, a rejection that nobody handles. This script is
// not a module, so that it runs before all others. The modules pass unexpected errors on by reportError.
{
  const messages = new Set()
  const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
  /** @type {(message: string) => void} */
  const show = (message) => {
    if (document.readyState === 'loading') {
      document.addEventListener('DOMContentLoaded', () => show(message), { once: true })
      return
    }
    messages.add(message)
    byId('failure-text').textContent = [...messages].slice(-3).join('; ')
    byId('failure').hidden = false
  }
  addEventListener('error', ({ target, message }) => {
    if (target instanceof HTMLScriptElement) show(`${target.src} could not be loaded`)
    else if (target instanceof HTMLLinkElement) show(`${target.href} could not be loaded`)
    else if (target === window && !/^ResizeObserver loop/.test(message)) show(message) // such a loop only delays a drawing
  }, true)
  addEventListener('unhandledrejection', ({ reason }) => show(reason?.message ?? String(reason)))
  document.addEventListener('DOMContentLoaded', () => {
    byId('reload').addEventListener('click', () => location.reload())
  })
}
