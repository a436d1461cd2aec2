import type { ExplainedIdentity, JudgedGrant } from '@svc/contract/trust.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';
import { renderGrant } from './render-trust.ts';

const mayDo = {
  none: 'may talk with the assistant',
  read: 'may let it look things up, not change anything',
  full: 'may let it do anything on this machine',
};

/** Why a sender has the trust they have, for a person. `now` is epoch ms. */
export function renderExplanation(explained: ExplainedIdentity, now: number, style: Style): string {
  const { explanation, denied, reason, trust_tier, tool_policy } = explained;
  const { identifier, principal, grants, capped_from } = explanation;
  const sender = `${identifier.surface} ${visibleLine(identifier.value)}`;
  const who =
    principal === null ? `${sender} is not known` : `${sender} is "${principal.key}" (${visibleLine(principal.display_name)})`;
  const result = denied
    ? style.red(`Denied: ${visibleLine(reason)}.`)
    : `${style.green(tierWord(trust_tier))}: ${mayDo[tool_policy]}${explained.bypass_moderation ? '; messages are not moderated' : ''}.`;
  return [
    `${who}.`,
    ...(grants.length === 0 ? [] : ['', ...grants.map((grant) => grantLine(grant, now, style))]),
    ...(capped_from === null
      ? []
      : ['', `In public nobody has more than ${tierWord(trust_tier)}: ${tierWord(capped_from)} was capped.`]),
    '',
    result,
    ...(principal === null
      ? [
          style.dim('  ./svc pair                            lists who waits to be let in'),
          style.dim('  ./svc person link KEY CHANNEL VALUE   says who this sender is'),
        ]
      : []),
  ].join('\n');
}

function grantLine(grant: JudgedGrant, now: number, style: Style): string {
  const facts = `${renderGrant(grant, now, style)} (${tierWord(grant.tier)}, tools: ${grant.tool_policy})`;
  return grant.misfit === null
    ? `  ${style.green('counts')}    ${facts}`
    : `  ${style.yellow('does not')}  ${facts}: ${visibleLine(grant.misfit)}`;
}
