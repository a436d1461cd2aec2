/** A release has a tag of `v` and three numbers. Any other tag, such as a pre-release, is ignored. */
export type Release = { tag: string; version: string };

type Numbers = readonly [number, number, number];

/** The three numbers of a version; `null` for any other text. */
function numbersOf(version: string): Numbers | null {
  const found = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/.exec(version);
  return found === null ? null : [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** The release of a tag; null for other tags. */
export function releaseOf(tag: string): Release | null {
  const version = tag.startsWith('v') ? tag.slice(1) : '';
  return numbersOf(version) === null ? null : { tag, version };
}

/** The newest release among the tags; null when there is none. */
export function newestRelease(tags: readonly string[]): Release | null {
  const releases = tags.flatMap((tag) => releaseOf(tag) ?? []);
  return releases.toSorted((a, b) => compareVersions(b.version, a.version))[0] ?? null;
}

/** Below 0 when `a` is older than `b`, 0 when they are the same. Any other text counts as older than a version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a) ?? [-1, 0, 0], numbersOf(b) ?? [-1, 0, 0]];
  const place = left.findIndex((part, at) => part !== right[at]);
  return place === -1 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}
