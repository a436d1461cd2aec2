import { createInterface } from 'node:readline/promises';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { stoppedByPerson } from '../cli-error.ts';
import { visibleLine } from '../terminal.ts';

/** Asks a person for one value; the input is visible. */
export type Ask = (question: string) => Promise<string>;

/** Writes to stderr, so that stdout stays clean. */
export const askTerminal: Ask = async (question) => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new Promise<never>((_resolve, reject) => lines.once('SIGINT', () => reject(stoppedByPerson())));
  try {
    return await Promise.race([lines.question(question), stopped]);
  } finally {
    lines.close();
  }
};

/** Required fields without a default or a given value; credentials are asked for elsewhere. */
export function missingFields({ configSchema, credentialKeys }: ConnectorMeta, given: readonly string[]): string[] {
  return (configSchema.required ?? []).filter(
    (name) => !given.includes(name) && !credentialKeys.includes(name) && configSchema.properties[name]?.default === undefined,
  );
}

/** Asks for fields, each until it is not empty. */
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
