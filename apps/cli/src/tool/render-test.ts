import { counted } from '@svc/service-kit/words.ts';
import type { ToolServerTest } from '@svc/contract/tool-server.ts';
import { CliError } from '../cli-error.ts';
import { visibleLine, type Style } from '../terminal.ts';

type Connected = Extract<ToolServerTest, { connected: true }>;
type Failed = Extract<ToolServerTest, { connected: false }>;

/** The tools of a tool server, for a person. */
export function renderTest({ name, ms, tools }: Connected, style: Style): string {
  const width = Math.min(32, Math.max(0, ...tools.map((tool) => tool.name.length)));
  return [
    `${style.green('✓')} ${name} answers (${(ms / 1000).toFixed(1)} s) and offers ${counted(tools.length, 'tool')}${tools.length > 0 ? ':' : '.'}`,
    ...tools.map(
      (tool) => `    ${visibleLine(tool.name).padEnd(width)}  ${style.dim(firstSentence(visibleLine(tool.description)))}`,
    ),
  ].join('\n');
}

/** Why it cannot be reached, the last output of its program, and the command that helps. */
export function testFault(test: Failed, what = `${test.name} cannot be reached.`): CliError {
  const { reason, stderr } = test;
  const said = stderr.map((line) => `  ${visibleLine(line)}`);
  const why = [`${sentence(visibleLine(reason))}${said.length > 0 ? ' It wrote:' : ''}`, ...said].join('\n');
  return new CliError(what, { why, run: fixOf(test) });
}

function fixOf({ name, fault }: Failed): string | undefined {
  switch (fault) {
    case 'no_program':
      return `./svc tool add ${name} -- /full/path/to/program`;
    case 'refused':
      return `./svc tool add ${name} --url ADDRESS -H 'Authorization: Bearer \${secret:NAME}'`;
    case 'unreachable':
    case 'no_server':
      return `./svc tool add ${name} --url ADDRESS`;
    case 'secret':
      return undefined; // the reason ends with it
    case 'timeout':
      return `./svc tool test ${name} --limit 300`;
    case 'ended':
    case 'other':
      return `./svc tool test ${name}`;
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const firstSentence = (text: string): string => {
  const [first = ''] = text.split(/(?<=[.!?])\s/);
  return first.length > 80 ? `${first.slice(0, 79)}…` : first;
};
