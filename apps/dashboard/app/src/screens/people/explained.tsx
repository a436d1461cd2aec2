import { t } from '@svc/chat-ui/language/t.ts';
import type { ExplainedIdentity } from '@svc/contract/trust.ts';
import { Status } from '../../parts/status.tsx';
import { grantWords, tierWords, toolWords } from './trust-words.ts';

type Props = ExplainedIdentity & {
  /** Opens the person; missing where they are open already. */
  onShow?(person: string): void;
};

/** The rights of a sender, and the grants that give them. */
export function Explained({ onShow, ...found }: Props) {
  const { denied, reason, explanation } = found;
  const { principal, grants } = explanation;
  return (
    <div className="stack" role="status">
      <p>{denied ? <Status kind="bad" words={t('refused')} /> : <Status kind="ok" words={t('let in')} />}</p>
      <p>{reason}</p>
      <p>{sentencesOf(found).join(' ')}</p>
      {principal !== null && onShow !== undefined && (
        <p>
          <button type="button" className="plain-button" onClick={() => onShow(principal.id)}>
            {t('Change what {name} may do', { name: principal.display_name })}
          </button>
        </p>
      )}
      {grants.length > 0 && (
        <ul className="rows-list">
          {grants.map((grant) => (
            <li key={grant.id}>
              <Status kind={grant.misfit === null ? 'ok' : 'off'} words={grantWords(grant)} />
              <p className="muted small">
                {grant.misfit ??
                  t('It applies: {tier}, {tools}.', { tier: tierWords[grant.tier], tools: toolWords[grant.tool_policy] })}
              </p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Who the sender is and what they may do, a sentence each. */
function sentencesOf({ denied, trust_tier: tier, tool_policy: tools, display_name: name, explanation }: ExplainedIdentity) {
  const { identifier, principal, capped_from: before } = explanation;
  const sender = `${identifier.surface} ${identifier.value}`;
  return [
    principal === null
      ? t('{sender} is not known.', { sender })
      : t('{sender} is {name} ({key}).', { sender, name: principal.display_name, key: principal.key }),
    denied ? null : t('{name} is {tier} here and {tools}.', { name, tier: tierWords[tier], tools: toolWords[tools] }),
    before === null ? null : t('Elsewhere they are {tier}: in public no one is more than this.', { tier: tierWords[before] }),
  ].filter((sentence) => sentence !== null);
}
