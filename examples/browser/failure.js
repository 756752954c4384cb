// Shows failures of the page itself: scripts that fail to load, exceptions and unhandled rejections. This script is not
// a module, so it runs before all modules. Modules report unexpected errors with reportError.
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
    else if (target === window && !/^ResizeObserver loop/.test(message)) show(message) // such a loop only delays rendering
  }, true)
  addEventListener('unhandledrejection', ({ reason }) => show(reason?.message ?? String(reason)))
  document.addEventListener('DOMContentLoaded', () => {
    byId('reload').addEventListener('click', () => location.reload())
  })
}
