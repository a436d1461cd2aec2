import { createInterface } from 'node:readline/promises';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { stoppedByPerson } from '../cli-error.ts';
import { visibleLine } from '../terminal.ts';

/** Asks a person one thing; what they type is shown. */
export type Ask = (question: string) => Promise<string>;

/** On stderr, so that what is printed stays clean. */
export const askTerminal: Ask = async (question) => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new Promise<never>((_resolve, reject) => lines.once('SIGINT', () => reject(stoppedByPerson())));
  try {
    return await Promise.race([lines.question(question), stopped]);
  } finally {
    lines.close();
  }
};

/** What the schema requires, has no default and was not said; credentials are asked for elsewhere. */
export function missingFields({ configSchema, credentialKeys }: ConnectorMeta, given: readonly string[]): string[] {
  return (configSchema.required ?? []).filter(
    (name) => !given.includes(name) && !credentialKeys.includes(name) && configSchema.properties[name]?.default === undefined,
  );
}

/** Asks for fields, each until something is typed. */
export async function askFields(meta: ConnectorMeta, names: readonly string[], ask: Ask): Promise<Record<string, string>> {
  const typed: Record<string, string> = {};
  for (const name of names) {
    let text = '';
    while (text === '') text = (await ask(questionFor(meta, name))).trim();
    typed[name] = text;
  }
  return typed;
}

export function questionFor({ configSchema }: ConnectorMeta, name: string): string {
  const { title, description = null } = configSchema.properties[name] ?? { title: name, description: null };
  const help = typeof description === 'string' ? ` (${visibleLine(description)})` : '';
  return `${visibleLine(title)}${help}: `;
}
