import { splitMessage, type ReplyWork, type ShowWork, type WorkStep } from '@svc/connector-kit';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Of each step, characters. */
const most = { thinking: 6000, input: 2000, output: 3000 } as const;

/** A comment that shows how the work goes: folded, what was thought and done; below it the answer so far. `limit`: of one comment. */
export function createShowWork(limit: number): ShowWork {
  return (work) => {
    const messages: string[] = [];
    let message = headOf(work);
    for (const block of [...work.steps.map(blockOf), ...splitMessage(work.text.trim(), limit - 1000)]) {
      if (message.length + block.length + 2 > limit) {
        messages.push(message);
        message = block;
      } else if (block !== '') message += `\n\n${block}`;
    }
    return [...messages, message];
  };
}

const headOf = ({ left }: ReplyWork): string =>
  left === 0 ? '⏳ *Working on it…*' : `⏳ *Working on it… (${left} earlier steps are not shown)*`;

const blockOf = (step: WorkStep): string =>
  step.kind === 'thinking'
    ? folded('💭 Thinking', quoted(tail(step.text, most.thinking)))
    : folded(`🔧 <code>${escaped(cutText(step.name, 100))}</code>${stateOf(step)}`, toolText(step));

const stateOf = ({ ok }: { ok?: boolean }): string => (ok === undefined ? ' …' : ok ? '' : ' ⚠️');

function toolText({ input, output }: Extract<WorkStep, { kind: 'tool' }>): string {
  const given = input === undefined ? [] : [fenced(cutText(JSON.stringify(input, null, 1) ?? '', most.input), 'json')];
  const result = output === undefined || output === '' ? [] : [fenced(cutText(output, most.output), '')];
  return [...given, ...result].join('\n\n');
}

const folded = (title: string, text: string): string => `<details><summary>${title}</summary>\n\n${text}\n\n</details>`;

/** In a fence that is longer than all in it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Nothing in it can end what it is folded into. */
const quoted = (text: string): string => escaped(text).replaceAll(/^/gm, '> ');
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const tail = (text: string, chars: number): string => (text.length <= chars ? text : `…${text.slice(-chars).toWellFormed()}`);
