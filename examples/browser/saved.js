// Saves values as JSON in the browser for the next visit.

import { messageOf } from './request.js'

/** @typedef {(reason: string) => void} Failed */

/**
 * Returns a saved value, or undefined if there is none.
 * @param {string} key
 * @param {Failed} failed called if the browser forbids storage, or if another program wrote the value
 * @returns {any}
 */
export function restore(key, failed) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined
  } catch (error) {
    failed(messageOf(error))
    return undefined
  }
}

/**
 * @param {string} key
 * @param {unknown} value
 * @param {Failed} failed called if the browser forbids storage, or if the storage is full
 */
export function save(key, value, failed) {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch (error) {
    failed(messageOf(error))
  }
}
