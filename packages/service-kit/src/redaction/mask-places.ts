import { toPlaceholder } from './placeholder.ts';
import type { Found } from './rules/rule.ts';

/** A piece of a text with the places in it replaced. Places are sorted by their beginning; what overlaps becomes one. */
export function maskPlaces(text: string, from: number, to: number, places: readonly Found[]): string {
  let out = '';
  let at = from;
  for (const place of joined(places)) {
    out += text.slice(at, place.from) + masked(text, place);
    at = place.to;
  }
  return out + text.slice(at, to);
}

function joined(places: readonly Found[]): Found[] {
  const result: Found[] = [];
  for (const place of places) {
    const last = result.at(-1);
    if (last === undefined || place.from >= last.to) result.push({ ...place });
    else last.to = Math.max(last.to, place.to);
  }
  return result;
}

const onlyPlaceholder = /^\[redacted:[a-z-]{1,20}\]$/;

/** What is masked already stays as it is: redacting twice gives the same. */
function masked(text: string, { from, to, kind }: Found): string {
  const value = text.slice(from, to);
  return onlyPlaceholder.test(value) ? value : toPlaceholder(kind);
}
