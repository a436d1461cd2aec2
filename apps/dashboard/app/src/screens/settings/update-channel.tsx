import { t } from '@svc/chat-ui/language/t.ts';
import type { UpdateStatus } from '@svc/contract/update.ts';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';

type Channel = UpdateStatus['channel'];
type Props = { channel: Channel; path: string };

const words: Record<Channel, string> = {
  stable: t('stable: releases'),
  edge: t('edge: the main branch'),
};

/** Which versions are checked for and installed. */
export function UpdateChannel({ channel, path }: Props) {
  const act = useAct({
    changes: [path],
    done: t('Saved. The next check, within 15 minutes, shows what is available.'),
  });
  return (
    <Field label={t('Update channel')} hint={t('Releases are signed; commits of the main branch are not.')}>
      {(props) => (
        <select
          {...props}
          value={channel}
          disabled={act.isPending}
          onChange={({ target }) => act.mutate({ method: 'POST', path: `${path}/channel`, body: { channel: target.value } })}
        >
          {Object.entries(words).map(([name, shown]) => (
            <option key={name} value={name}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
