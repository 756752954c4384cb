// Draws the changes per second over the last minute.

import { $, $of, setText } from './dom.js'

/** @import { Rate } from './history.js' */

const WIDTH = 120, HEIGHT = 22 // CSS pixels

/**
 * @param {Rate} rate
 * @param {number} now in milliseconds
 */
export function drawRate(rate, now) {
  const counts = rate.list(now), perSecond = rate.now(now)
  setText($('rate'), perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toFixed(1))
  const canvas = $of('sparkline', HTMLCanvasElement), scale = devicePixelRatio
  if (canvas.width !== WIDTH * scale) {
    canvas.width = WIDTH * scale
    canvas.height = HEIGHT * scale
  }
  const pen = canvas.getContext('2d'), styles = getComputedStyle(canvas)
  if (!pen) return // without a 2d context, the page shows the rate only as a number
  pen.setTransform(scale, 0, 0, scale, 0, 0)
  pen.clearRect(0, 0, WIDTH, HEIGHT)
  const most = Math.max(4, ...counts) // at least 4, so that a single change is a small bar
  counts.forEach((n, i) => {
    const height = n ? Math.max(2, (n / most) * (HEIGHT - 2)) : 1
    pen.fillStyle = n ? styles.color : styles.borderColor
    pen.fillRect(i * 2, HEIGHT - height, 1.5, height) // 60 bars of 1.5 pixels with gaps of 0.5 pixels
  })
}
