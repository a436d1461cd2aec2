import { maxToolTestMs } from '@svc/contract/tool-server.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { defineCommand, defineDefault } from '../program/define-command.ts';

/** The actions of `svc tool`. */
export type ToolRequest =
  | { action: 'list'; json?: boolean }
  | { action: 'add'; name: string; fields: ToolFields; test: boolean; json?: boolean }
  | { action: 'test'; name: string; limitMs: number; json?: boolean }
  | { action: 'remove' | 'toggle'; name: string; json?: boolean }
  | { action: 'import'; file: string; replace: boolean; json?: boolean };

/** Body of `POST /v2/mcp`, without the name. */
export type ToolFields = {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
  safe?: boolean;
  enabled?: boolean;
  description?: string;
};

type AddOptions = {
  url?: string;
  env?: Record<string, string>;
  header?: Record<string, string>;
  safe?: boolean;
  off?: boolean;
  description?: string;
  test?: boolean;
  json?: boolean;
};

type Run = (request: ToolRequest) => Promise<void>;

/** Adds `tool` and its subcommands. */
export function addToolCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'tool', {
    summary: 'list the tool servers (MCP) of the assistant, add or remove one',
    examples: [
      './svc tool add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs',
      './svc tool test files',
      './svc tool import ~/.claude.json',
    ],
  });
  defineDefault(noun, 'list', { summary: 'list what is registered', examples: ['./svc tool', './svc tool list --json'] })
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'list', ...options }));
  addAdd(noun, run);
  addTest(noun, run);
  addAct(noun, 'remove', 'remove a tool server', run);
  addAct(noun, 'toggle', 'turn a tool server off, or on again', run);
  defineCommand(noun, 'import', {
    summary: 'add those of a Claude, Cursor, Gemini or VS Code file',
    examples: ['./svc tool import ~/.claude.json', './svc tool import .vscode/mcp.json --replace'],
  })
    .argument('<file>', 'JSON with "mcpServers"')
    .option('--replace', 'also those whose name is taken')
    .option('--json', 'print JSON')
    .action((file: string, { replace, json }: { replace?: boolean; json?: boolean }) =>
      run({ action: 'import', file, replace: replace === true, json }),
    );
}

function addAdd(noun: Command, run: Run): void {
  defineCommand(noun, 'add', {
    summary: 'add a tool server, or replace the one of this name',
    examples: [
      './svc tool add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs',
      "./svc tool add hub --url https://mcp.example -H 'X-Key: ${secret:HUB_KEY}'",
    ],
  })
    .usage('NAME [options] (--url ADDRESS | -- COMMAND [ARGS...])')
    .argument('<name>', 'a-z, 0-9, "_" and "-"')
    .argument('[command...]', 'after "--": the program and its arguments')
    .option('--url <address>', 'of a remote server, in place of a program')
    .option('-e, --env <NAME=VALUE>', 'for the program; may be repeated', collect('=', 'NAME=VALUE'))
    .option('-H, --header <Name: value>', 'for the address; may be repeated', collect(':', '"Name: value"'))
    .option('--safe', 'also for people who may only read')
    .option('--off', 'register it without turning it on')
    .option('--description <text>', 'what it is for')
    .option('--no-test', 'do not connect to it now')
    .option('--json', 'print JSON')
    .action((name: string, words: string[], options: AddOptions) =>
      run({ action: 'add', name, fields: toFields(words, options), test: options.test !== false, json: options.json }),
    );
}

function addTest(noun: Command, run: Run): void {
  defineCommand(noun, 'test', {
    summary: 'connect to a tool server once and list its tools',
    examples: ['./svc tool test files', './svc tool test files --limit 300'],
  })
    .argument('<name>', 'as the list shows it')
    .addOption(new Option('--limit <seconds>', 'how long it may take').argParser(toLimit).default(60_000, '60'))
    .option('--json', 'print JSON')
    .action((name: string, { limit, json }: { limit: number; json?: boolean }) =>
      run({ action: 'test', name, limitMs: limit, json }),
    );
}

function addAct(noun: Command, action: 'remove' | 'toggle', summary: string, run: Run): void {
  defineCommand(noun, action, { summary, examples: [`./svc tool ${action} files`] })
    .argument('<name>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((name: string, options: { json?: boolean }) => run({ action, name, ...options }));
}

function toFields([command, ...args]: string[], options: AddOptions): ToolFields {
  const { url, env, header, safe, off, description } = options;
  return {
    ...(command !== undefined && { command, args }),
    ...(url !== undefined && { url }),
    ...(env !== undefined && { env }),
    ...(header !== undefined && { headers: header }),
    ...(safe === true && { safe }),
    ...(off === true && { enabled: false }),
    ...(description !== undefined && { description }),
  };
}

function toLimit(text: string): number {
  const ms = Number(text) * 1000;
  if (Number.isInteger(ms) && ms >= 1000 && ms <= maxToolTestMs) return ms;
  throw new InvalidArgumentError(`It takes seconds, from 1 to ${maxToolTestMs / 1000}.`);
}

/** Collects the values of a repeated option. */
const collect =
  (sign: string, form: string) =>
  (text: string, before: Record<string, string> = {}): Record<string, string> => {
    const at = text.indexOf(sign);
    if (at < 1) throw new InvalidArgumentError(`It takes ${form}.`);
    const value = text.slice(at + 1);
    return { ...before, [text.slice(0, at)]: sign === ':' ? value.trim() : value };
  };
