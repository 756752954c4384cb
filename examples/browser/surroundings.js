// What is around the table: the corner, the line of staleness, the progress, and what stands in place of no rows.

import { $, announce, h, hush, setAttribute, setText } from './dom.js'
import { canRetry, corner, inPlace, isKnown, progress, staleness } from './status.js'

let told = ''

/** Forgets what was told aloud, which was of another collection. */
export function forget() {
  told = ''
  hush()
}

/** Shows how things stand. `feed` is undefined until the server was reached. */
export function showState(state, feed, place, now) {
  const { tone, text, title } = corner(state, now)
  setText($('connection-text'), text)
  setAttribute($('connection'), 'data-tone', tone)
  setAttribute($('connection'), 'title', title)
  showRetry(canRetry(state))
  $('grid').hidden = !feed // or it would show another server's
  const size = feed?.rows.size ?? 0, shown = feed?.rows.view.length ?? 0
  showStale(state, size, now)
  showProgress(state)
  showCount(isKnown(state, size), size, shown, place.search)
  showEmpty(shown || !$('progress').hidden ? [] : inPlace(state, size, place))
  document.title = [state.phase === 'interrupted' && '⚠', $('title').textContent, 'listwatch'].filter(Boolean).join(' · ')
  const says = tone === 'busy' ? '' : text.replace(/ · .*/, '') // without the countdown
  if (says && says !== told) announce(state.phase === 'live' ? `${says}. ${size} ${place.plural}` : says)
  told = says || told
}

function showRetry(shown) {
  if (!shown && document.activeElement === $('retry')) $('grid').focus() // or the keyboard would be nowhere
  $('retry').hidden = !shown
}

function showStale(state, size, now) {
  const text = staleness(state, size, now)
  $('stale').hidden = !text
  setText($('stale'), text)
  document.body.classList.toggle('is-stale', !!text)
}

function showProgress(state) {
  const { part, text } = progress(state) ?? {}
  $('progress').hidden = !text
  if (!text) return
  setAttribute($('progress'), 'aria-valuenow', part === undefined ? undefined : Math.round(part * 100))
  setAttribute($('progress'), 'aria-valuetext', text)
  $('progress').classList.toggle('unknown', part === undefined)
  $('progress').firstElementChild.style.width = part === undefined ? '' : `${part * 100}%`
  setText($('count'), text)
}

function showCount(known, size, shown, search) {
  if (!$('progress').hidden) return
  const all = size.toLocaleString('en')
  setText($('count'), !known ? '' : search ? `${shown.toLocaleString('en')} of ${all}` : all)
}

function showEmpty(lines) {
  $('empty').hidden = !lines.length
  if ($('empty').dataset.lines === lines.join('\n')) return
  $('empty').dataset.lines = lines.join('\n')
  $('empty').replaceChildren(...lines.map((line, i) => h(i ? 'p' : 'strong', {}, line)))
}
