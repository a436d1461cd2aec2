import { t } from '@svc/chat-ui/language/t.ts';
import { type Checkout, checkoutFields } from '@svc/contract/checkout.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogButton } from '../../../parts/dialog-button.tsx';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';

/** Fetching a large repository takes a while. */
const fetchMs = 10 * 60_000;

const { url, ref, credential, conversation_key: conversation } = checkoutFields;
const schema = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { ...url, title: t('Address of the repository'), description: t('It must begin with https://.') },
    ref: { ...ref, title: t('Branch, tag or commit'), description: t('Leave empty for the default branch.') },
    credential: {
      ...credential,
      title: t('Name of the secret that opens it'),
      description: t('One of SVC_CHECKOUT_SECRETS. Empty for a public repository.'),
    },
    conversation_key: {
      ...conversation,
      title: t('Conversation that it is for'),
      description: t('Its key. Leave empty for the first conversation of the shell or the web that works in it.'),
    },
  },
} as const;

/** Copies a repository, or updates a copy in which nobody has worked. */
export function NewCheckout({ path }: { path: string }) {
  return (
    <DialogButton label={t('Copy a repository')}>
      {(close) => (
        <Dialog title={t('Copy a repository')} onClose={close}>
          <ActForm<Checkout>
            schema={schema}
            button={t('Copy repository')}
            changes={[path]}
            toCall={(body) => ({ method: 'POST', path, body, timeoutMs: fetchMs })}
            done={({ sha }) => t('The copy is here, at {commit}.', { commit: sha.slice(0, 12) })}
            onClose={close}
          />
        </Dialog>
      )}
    </DialogButton>
  );
}
