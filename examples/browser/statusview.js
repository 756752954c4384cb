// Shows the connection indicator, the staleness line, the progress bar and the message of an empty table.

import { $, announce, h, cancelAnnouncement, setAttribute, setText } from './dom.js'
import { indicator, emptyMessage, isKnown, isTroubled, pausedMessage, progress, actionLabel, staleness } from './status.js'
import { isFiltered } from './route.js'

/**
 * @import { Feed } from './feed.js'
 * @import { Route } from './route.js'
 * @import { Status } from './status.js'
 */

let announced = ''

/** Cancels announcements about the previous collection. */
export function resetAnnouncements() {
  announced = ''
  cancelAnnouncement()
}

/**
 * Shows the status. `feed` is undefined until the server has responded.
 * @param {Status} state
 * @param {Feed | undefined} feed
 * @param {Route} route
 * @param {number} now in milliseconds
 */
export function showState(state, feed, route, now) {
  const { tone, text, more, title } = indicator(state, now)
  setText($('connection-text'), text + more)
  setAttribute($('connection'), 'data-tone', tone)
  setAttribute($('connection'), 'title', title)
  showAction(actionLabel(state))
  showGrid(!!feed)
  const size = feed?.rows.size ?? 0
  showStale(state, size, now)
  showProgress(state)
  showCount(isKnown(state, size), size, feed?.rows.shown ?? 0, isFiltered(route))
  showEmpty(feed?.rows.view.length || !$('progress').hidden ? [] : emptyMessage(state, size, route))
  document.title = [isTroubled(state) && '⚠', $('title').textContent, 'listwatch'].filter(Boolean).join(' · ')
  const message = tone === 'busy' ? '' : text
  if (message && message !== announced) announce(state.phase === 'live' ? `${message}. ${size} ${route.plural}` : message)
  announced = message || announced
}

/**
 * Shows or hides the table. A new table receives the keyboard focus unless another element has it.
 * @param {boolean} visible false hides objects of the previous server
 */
function showGrid(visible) {
  const appears = visible && $('grid').hidden
  $('grid').hidden = !visible
  if (appears && document.activeElement === document.body) $('grid').focus()
}

/**
 * Shows the age of a paused table.
 * @param {Feed['paused']} paused
 * @param {number} now in milliseconds
 */
export function showPaused(paused, now) {
  setAttribute($('pause'), 'aria-pressed', String(!!paused))
  $('paused').hidden = !paused
  if (paused) setText($('paused'), pausedMessage(paused.at, paused.changes.size, now))
}

/** @param {string} label */
function showAction(label) {
  if (!label && document.activeElement === $('retry')) $('grid').focus() // otherwise the focus would disappear with the button
  $('retry').hidden = !label
  if (label) setText($('retry'), label)
}

/**
 * @param {Status} state
 * @param {number} size
 * @param {number} now
 */
function showStale(state, size, now) {
  const text = staleness(state, size, now)
  $('stale').hidden = !text
  setText($('stale'), text)
  document.body.classList.toggle('is-stale', !!text)
}

/** @param {Status} state */
function showProgress(state) {
  const found = progress(state)
  $('progress').hidden = !found
  if (!found) return
  const { part, text } = found
  setAttribute($('progress'), 'aria-valuenow', part === undefined ? undefined : Math.round(part * 100))
  setAttribute($('progress'), 'aria-valuetext', text)
  $('progress').classList.toggle('unknown', part === undefined)
  $('progress-bar').style.width = part === undefined ? '' : `${part * 100}%`
  setText($('count'), text)
}

/**
 * @param {boolean} known
 * @param {number} size
 * @param {number} shown
 * @param {boolean} filtered
 */
function showCount(known, size, shown, filtered) {
  if (!$('progress').hidden) return
  const all = size.toLocaleString('en')
  setText($('count'), !known ? '' : filtered ? `${shown.toLocaleString('en')} of ${all}` : all)
}

/** @param {string[]} lines */
function showEmpty(lines) {
  $('empty').hidden = !lines.length
  if ($('empty').dataset.lines === lines.join('\n')) return
  $('empty').dataset.lines = lines.join('\n')
  $('empty').replaceChildren(...lines.map((line, i) => h(i ? 'p' : 'strong', {}, line)))
}
