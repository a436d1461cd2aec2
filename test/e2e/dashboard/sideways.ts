/** How many pixels the page, or the screen in it, can be moved sideways. */
export const sideways = `Math.max(...[...document.querySelectorAll('html, #main')].map((box) => box.scrollWidth - box.clientWidth))`;
