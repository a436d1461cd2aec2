/**
 * The program interprets prompt text: `@file` adds that file, whatever the policy, and `/word` at the beginning is a command. So neither
 * character reaches it: private-use characters replace them, until the model relay restores the real ones in the request to the model.
 */
const standIns = [
  { real: '@', standIn: '\u{10F1A7}' },
  { real: '/', standIn: '\u{10F1A8}' },
] as const;
const [at, slash] = standIns;

/** A text that the program cannot misinterpret. */
export const hideCommands = (text: string): string => text.replaceAll(at.real, at.standIn).replace(/^\//, () => slash.standIn);

/** Restores the original text of a model request. The body is JSON, in which neither character needs an escape. */
export function restoreText(body: Buffer): Buffer {
  let restored = body;
  for (const { real, standIn } of standIns) {
    if (!restored.includes(standIn)) continue;
    const bytes = Buffer.from(standIn).toString('latin1');
    restored = Buffer.from(restored.toString('latin1').replaceAll(bytes, real), 'latin1');
  }
  return restored;
}
