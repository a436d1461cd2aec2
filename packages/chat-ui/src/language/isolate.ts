/** Signs that turn the direction of writing, or keep it. Some of them reach to the end of the line. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** What lies between ends of lines, where every such sign ends by itself, and other signs that control. */
const lines = /[^\p{Cc}\u2028\u2029]+/gu;
const begins = new Set(['\u2066', '\u2067', '\u2068']);
const end = '\u2069';

/** Text of a person as a part of a sentence of ours: whatever directions are in it, the words around it stay where they are. */
export const isolate = (text: string): string => (turning.test(text) ? text.replace(lines, isolateLine) : text);

function isolateLine(line: string): string {
  let open = 0;
  let kept = '';
  for (const sign of line) {
    if (begins.has(sign)) open += 1;
    // One end too many would end what we begin.
    if (sign === end && open === 0) continue;
    if (sign === end) open -= 1;
    kept += sign;
  }
  return `\u2068${kept}${end.repeat(open + 1)}`;
}
