import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byId } from './support/page.js'
import { Rate } from '../history.js'
import { drawRate } from '../sparkline.js'

const NOW = 1_000_000
const canvas = byId('sparkline')
canvas.style.color = 'red'
canvas.style.borderColor = 'gray'
// Draws the given numbers of events per second, from oldest to newest. Returns the drawn bars and the other canvas
// calls.
function draw(...counts) {
  const rate = new Rate(), bars = [], calls = []
  counts.forEach((n, i) => rate.add(n, NOW - (counts.length - 1 - i) * 1000))
  canvas.getContext = (kind) => (kind !== '2d' ? null : {
    setTransform: (...args) => calls.push(['setTransform', ...args]), clearRect: (...args) => calls.push(['clearRect', ...args]),
    fillRect(...args) { bars.push([this.fillStyle, ...args]) },
  })
  drawRate(rate, NOW)
  return { bars, calls }
}

test('the rate is the average of the last full seconds', () => {
  draw(1, 2, 3, 4, 5, 100)
  assert.equal(byId('rate').textContent, '3.0')
  draw(50, 0, 0, 0, 0, 0)
  assert.equal(byId('rate').textContent, '10')
  draw(49, 0, 0, 0, 0, 0)
  assert.equal(byId('rate').textContent, '9.8')
})

test('each second has a bar whose height is relative to the highest count', () => {
  const { bars, calls } = draw(0, 1, 100, 50)
  assert.equal(bars.length, 60)
  assert.deepEqual(bars[0], ['gray', 0, 21, 1.5, 1])
  assert.deepEqual(bars.slice(-4), [['gray', 112, 21, 1.5, 1], ['red', 114, 20, 1.5, 2], ['red', 116, 2, 1.5, 20], ['red', 118, 12, 1.5, 10]])
  assert.deepEqual(calls, [['setTransform', 1, 0, 0, 1, 0, 0], ['clearRect', 0, 0, 120, 22]])
})

test('the bars stay low if there are few changes', () => {
  assert.deepEqual(draw(1, 2).bars.slice(-2), [['red', 116, 17, 1.5, 5], ['red', 118, 12, 1.5, 10]])
})

test('the canvas has the resolution of the screen', () => {
  draw()
  assert.deepEqual([canvas.width, canvas.height], [120, 22])
  globalThis.devicePixelRatio = 2
  assert.deepEqual(draw().calls[0], ['setTransform', 2, 0, 0, 2, 0, 0])
  assert.deepEqual([canvas.width, canvas.height], [240, 44])
  let writes = 0
  Object.defineProperty(canvas, 'width', { get: () => 240, set: () => writes++ })
  draw()
  assert.equal(writes, 0, 'the width must not be set again, because that would clear the canvas')
  globalThis.devicePixelRatio = 1
})

test('the rate is shown as a number even without a 2d context', () => {
  canvas.getContext = () => null
  const rate = new Rate()
  rate.add(20, NOW - 2000)
  drawRate(rate, NOW)
  assert.equal(byId('rate').textContent, '4.0')
})
