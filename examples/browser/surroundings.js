// What is around the table: the corner, the line of staleness, the progress, and what stands in place of no rows.

import { $, announce, h, hush, setAttribute, setText } from './dom.js'
import { corner, inPlace, isKnown, progress, remedy, staleness } from './status.js'

/**
 * @import { Feed } from './feed.js'
 * @import { Place } from './place.js'
 * @import { Standing } from './status.js'
 */

let told = ''

/** Withdraws what screen readers were told about another collection. */
export function forget() {
  told = ''
  hush()
}

/**
 * Shows how things stand. `feed` is undefined until the server has answered.
 * @param {Standing} state
 * @param {Feed | undefined} feed
 * @param {Place} place
 * @param {number} now in milliseconds
 */
export function showState(state, feed, place, now) {
  const { tone, text, more, title } = corner(state, now)
  setText($('connection-text'), text + more)
  setAttribute($('connection'), 'data-tone', tone)
  setAttribute($('connection'), 'title', title)
  showRemedy(remedy(state))
  $('grid').hidden = !feed // or it would show another server's
  const size = feed?.rows.size ?? 0, shown = feed?.rows.view.length ?? 0
  showStale(state, size, now)
  showProgress(state)
  showCount(isKnown(state, size), size, shown, place.search)
  showEmpty(shown || !$('progress').hidden ? [] : inPlace(state, size, place))
  document.title = [state.phase === 'interrupted' && '⚠', $('title').textContent, 'listwatch'].filter(Boolean).join(' · ')
  const says = tone === 'busy' ? '' : text
  if (says && says !== told) announce(state.phase === 'live' ? `${says}. ${size} ${place.plural}` : says)
  told = says || told
}

/** @param {string} label */
function showRemedy(label) {
  if (!label && document.activeElement === $('retry')) $('grid').focus() // otherwise the focus would be lost with the button
  $('retry').hidden = !label
  if (label) setText($('retry'), label)
}

/**
 * @param {Standing} state
 * @param {number} size
 * @param {number} now
 */
function showStale(state, size, now) {
  const text = staleness(state, size, now)
  $('stale').hidden = !text
  setText($('stale'), text)
  document.body.classList.toggle('is-stale', !!text)
}

/** @param {Standing} state */
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
 * @param {string} search
 */
function showCount(known, size, shown, search) {
  if (!$('progress').hidden) return
  const all = size.toLocaleString('en')
  setText($('count'), !known ? '' : search ? `${shown.toLocaleString('en')} of ${all}` : all)
}

/** @param {string[]} lines */
function showEmpty(lines) {
  $('empty').hidden = !lines.length
  if ($('empty').dataset.lines === lines.join('\n')) return
  $('empty').dataset.lines = lines.join('\n')
  $('empty').replaceChildren(...lines.map((line, i) => h(i ? 'p' : 'strong', {}, line)))
}
