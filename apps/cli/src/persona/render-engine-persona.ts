import type { EnginePersona } from '@svc/contract/persona.ts';
import { visible, visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';

const tools: Record<EnginePersona['tool_policy'], string> = {
  none: 'no tools of its own',
  read: 'tools that read',
  full: 'every tool',
};

/** What an engine gives its model, and what its program adds. */
export function renderEnginePersona({ engine, tier, tool_policy, text, bytes, added }: EnginePersona, style: Style): string {
  const head = `${visibleLine(engine)} in a turn of ${tierWord(tier)}, with ${tools[tool_policy]} (${bytes} bytes):`;
  const more =
    added.length === 0
      ? [style.dim('Its program adds nothing to it.')]
      : [style.dim('Its program adds:'), ...added.map((line) => `- ${visibleLine(line)}`)];
  return [style.dim(head), '', visible(text), '', ...more].join('\n');
}
