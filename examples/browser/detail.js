// Shows the selected object in tabs: an overview, the YAML, its events and its recent changes.

import { announce, h, setText } from './dom.js'
import { CopyButton } from './copy.js'
import { ChangeList, inPart, objectsOf } from './changes.js'
import { diff, visibleDifferences } from './diff.js'
import { EventList } from './events.js'
import { overview } from './overview.js'
import { OwnedList } from './owned.js'
import { Tabs } from './tabs.js'
import { YAMLView } from './yamlview.js'

/**
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 * @import { Feed } from './feed.js'
 * @import { Entry } from './history.js'
 * @import { Row } from './row.js'
 * @import { Result, Versions } from './versions.js'
 *
 * @typedef {Pick<Feed, 'history' | 'resource' | 'columns' | 'versionsOf' | 'eventsOf' | 'ownedOf'>} Source The data of the collection.
 * @typedef {{ tab: string, namespace: string, resources: Resource[] }} Place The selected tab, the namespace of the page or "", and all collections.
 */

export class Detail {
  #element
  #name = h('h3', { id: 'detail-name', tabindex: -1 })
  #kind = h('span', { class: 'kind' })
  #sub = h('p', { class: 'sub' })
  #overview = h('div', { class: 'overview' })
  #owned = new OwnedList()
  #changes = new ChangeList()
  #yaml = new YAMLView()
  #events = new EventList()
  #copyName = new CopyButton('Copy name', () => this.#name.textContent ?? '')
  #missing = h('p', { class: 'none' })
  #tabs
  /** @type {unknown[] | undefined} The drawn item, object, reason and collections, or the text of `showMissing`. */
  #shown

  /**
   * @param {HTMLElement} element
   * @param {{ close: () => void, choose: (tab: string) => void }} callbacks `choose` selects a tab
   */
  constructor(element, { close, choose }) {
    this.#element = element
    const closeButton = h('button', { class: 'icon', 'aria-label': 'Close', title: 'Close (Esc)', onclick: close }, '×')
    this.#tabs = new Tabs('Detail', [
      { id: 'overview', title: 'Overview', content: h('div', {}, this.#overview, this.#owned.element) }, { id: 'yaml', title: 'YAML', content: this.#yaml.element },
      { id: 'events', title: 'Events', content: this.#events.element }, { id: 'changes', title: 'Changes', content: this.#changes.element },
    ], choose)
    element.append(h('header', {}, h('div', { class: 'titles' }, this.#kind, this.#name, this.#sub), this.#yaml.button.element, this.#copyName.element, closeButton), this.#missing, ...this.#tabs.elements)
  }

  get open() { return !this.#element.hidden }

  focus() { this.#name.focus({ preventScroll: true }) }

  close() {
    this.#element.hidden = true
    this.#shown = undefined
  }

  /**
   * Shows an object's name, and a text instead of its tabs.
   * @param {{ kind: string, name: string, namespace: string }} object
   * @param {string} text why the object is missing
   */
  showMissing({ kind, name, namespace }, text) {
    this.#head(kind, name, namespace && `in ${namespace}`)
    this.#element.className = 'detail missing'
    setText(this.#missing, text)
    if (this.#shown?.[0] !== text) announce(text)
    this.#shown = [text]
  }

  /**
   * Opens the details pane with a heading.
   * @param {string} kind
   * @param {string} name
   * @param {string} sub
   */
  #head(kind, name, sub) {
    this.#element.hidden = false
    setText(this.#kind, kind)
    setText(this.#name, name)
    setText(this.#sub, sub)
  }

  /**
   * Shows a row with its history, its events and its full object.
   * @param {Row} row
   * @param {Source} source
   * @param {Place} place
   * @param {number} now in milliseconds
   */
  show(row, source, place, now) {
    const { history, resource } = source
    const entries = history.of(row.key), versions = source.versionsOf(row)
    this.#head(resource.kind, row.item.name, subtitle(row))
    this.#element.className = row.gone ? 'detail gone' : 'detail'
    const latest = latestOf(row, entries[0], versions)
    const object = latest?.object ?? row.item.object // the table's partial object until the full object arrives
    const tab = this.#tabs.show(place.tab)
    if (tab === 'events') this.#events.show(source.eventsOf(row), now)
    if (tab === 'overview') this.#owned.show(resource.kind, row.item, source.ownedOf(row, object, place.resources), place.namespace)
    this.#changes.show(entries, versions, now)
    const state = [row.item, versions?.arrivals, latest?.object, latest?.reason, place.resources]
    if (this.#shown?.every((part, i) => part === state[i])) return
    if (this.#shown?.[0] !== row.item) for (const button of [this.#yaml.button, this.#copyName]) button.reset()
    this.#shown = state
    this.#overview.replaceChildren(...overview(object, source.columns, { ...place, resource }))
    this.#yaml.draw(object, changedPaths(entries[0], versions), commentOn(resource, latest))
  }
}

/** @param {Row} row */
function subtitle({ item, gone, mark }) {
  const where = item.namespace ? `in ${item.namespace} · ` : ''
  return `${gone ? `deleted${mark?.finalStateUnknown ? ' while disconnected' : ''} · ` : ''}${where}version ${item.resourceVersion}`
}

/**
 * Returns the paths of the fields that the newest change modified, joined with "\0".
 * @param {Entry | undefined} newest
 * @param {Versions | undefined} versions
 */
function changedPaths(newest, versions) {
  const { old, object } = newest ? objectsOf(newest, versions) : {}
  return old && object ? visibleDifferences(diff(old, object)).map(({ at }) => at.join('\0')) : []
}

/**
 * Returns the reason why the YAML is incomplete, or undefined.
 * @param {Resource} resource
 * @param {Result | undefined} latest
 */
function commentOn(resource, latest) {
  if (isSecret(resource)) return 'The values are removed from a Secret before it reaches this page.'
  return latest?.reason && inPart(latest.reason)
}

/**
 * Reports whether the objects are Secrets, whose values must not reach the page.
 * @param {Pick<Resource, 'group' | 'plural'>} resource
 */
export const isSecret = ({ group, plural }) => group === '' && plural === 'secrets'

/**
 * Returns the latest full object of a row, or undefined until it arrives. If `versions` is undefined, the table already
 * contains all fields that may be shown.
 * @param {Row} row
 * @param {Entry | undefined} newest
 * @param {Versions | undefined} versions
 * @returns {Result | undefined}
 */
function latestOf(row, newest, versions) {
  if (!versions) return { object: row.item.object }
  const asOf = newest && (row.gone ? newest.before : newest.after) // a deleted object existed only before its deletion
  const answer = versions.at(row.item.resourceVersion, { asOf, current: true })
  return !answer?.object && versions.newest ? { object: versions.newest } : answer
}
