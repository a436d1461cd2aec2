/**
 * Prompt text is command line to the program: `@file` in it reads that file, whatever the policy, and `/word` at its
 * start is a command. So neither character reaches it: characters for private use stand for them, until the model relay
 * puts the real ones back into what goes to the model.
 */
const standIns = [
  { real: '@', standIn: '\u{10F1A7}' },
  { real: '/', standIn: '\u{10F1A8}' },
] as const;
const [at, slash] = standIns;

/** Text as the program may see it. */
export const hideCommands = (text: string): string => text.replaceAll(at.real, at.standIn).replace(/^\//, () => slash.standIn);

/** A model request with the text as it was. The body is JSON, in which neither character needs an escape. */
export function restoreText(body: Buffer): Buffer {
  let restored = body;
  for (const { real, standIn } of standIns) {
    if (!restored.includes(standIn)) continue;
    const bytes = Buffer.from(standIn).toString('latin1');
    restored = Buffer.from(restored.toString('latin1').replaceAll(bytes, real), 'latin1');
  }
  return restored;
}
