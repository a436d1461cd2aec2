export const bumps = ['major', 'minor', 'patch'] as const;
export type Bump = (typeof bumps)[number];

/** The version after `current`. @throws Error when it is not three numbers */
export function nextVersion(current: string, bump: Bump): string {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(current);
  if (found === null) throw new Error(`VERSION is "${current}", which is not a version such as 1.2.3.`);
  const [major = 0, minor = 0, patch = 0] = found.slice(1).map(Number);
  if (bump === 'major') return `${major + 1}.0.0`;
  return bump === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

const unreleased = '## Unreleased\n';

/**
 * Moves the unreleased part of the changelog under a heading with the version and its date, and returns it as `notes`, too.
 * @throws Error when the part is empty: then there is nothing to release
 */
export function rollChangelog(text: string, version: string, date: string): { text: string; notes: string } {
  const at = text.indexOf(unreleased);
  if (at === -1) throw new Error('CHANGELOG.md has no section "## Unreleased".');
  const begin = at + unreleased.length;
  const next = text.indexOf('\n## ', begin);
  const notes = text.slice(begin, next === -1 ? undefined : next).trim();
  if (notes.replaceAll(/^#.*$/gm, '').trim() === '') throw new Error('CHANGELOG.md has no entries under "## Unreleased".');
  return { text: `${text.slice(0, begin)}\n## ${version} (${date})\n${text.slice(begin)}`, notes };
}

/** A manifest's text with another version. In a lock, all our entries change, which have the version `from`; the rest is unchanged. */
export function mirrorVersion(file: string, text: string, from: string, to: string): string {
  if (!file.endsWith('package-lock.json')) return text.replace(`"version": "${from}"`, `"version": "${to}"`);
  const lock = JSON.parse(text) as { version: string; packages: Record<string, { version?: string; link?: boolean }> };
  lock.version = to;
  for (const [place, entry] of Object.entries(lock.packages))
    if (!place.includes('node_modules/') && entry.version === from) entry.version = to;
  return `${JSON.stringify(lock, null, 2)}\n`;
}
