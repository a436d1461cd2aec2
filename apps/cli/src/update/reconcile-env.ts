type Example = { name: string; lines: string[] };

const settingLine = /^#?\s*(?:export\s+)?([A-Za-z_]\w*)=/;
/** In the example a setting is commented out without a blank: `#NAME=value`. */
const exampleLine = /^#([A-Za-z_]\w*)=/;

/** Each setting of an example, with the comment above it. */
function examplesOf(example: string): Example[] {
  const found: Example[] = [];
  let comment: string[] = [];
  for (const line of example.split('\n')) {
    const name = exampleLine.exec(line)?.[1];
    if (name !== undefined) {
      found.push({ name, lines: [...comment, line] });
      comment = [];
    } else comment = line.startsWith('# ') && !line.startsWith('# ----') ? [...comment, line] : [];
  }
  return found;
}

/**
 * Appends the new settings of an example to `.env`, commented out; existing content stays unchanged. Only settings that the previous
 * example did not have are new, so a setting that a person removed does not return. Null when there is nothing to add.
 */
export function reconcileEnv(env: string, before: string, after: string): string | null {
  const known = new Set([...namesIn(env), ...examplesOf(before).map(({ name }) => name)]);
  const added = examplesOf(after).filter(({ name }) => !known.has(name));
  if (added.length === 0) return null;
  const gap = env === '' ? '' : env.endsWith('\n') ? '\n' : '\n\n';
  return `${env}${gap}${added.map(({ lines }) => `${lines.join('\n')}\n`).join('\n')}`;
}

const namesIn = (env: string): string[] => env.split('\n').flatMap((line) => settingLine.exec(line.trim())?.[1] ?? []);
