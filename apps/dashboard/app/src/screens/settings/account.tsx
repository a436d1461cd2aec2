import { t } from '@svc/chat-ui/language/t.ts';
import { Section } from '../../parts/page.tsx';
import { AuthenticatorApp } from './authenticator-app.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { SignedIn } from './signed-in.tsx';

/** How the operator signs in, and where they are signed in. */
export function Account() {
  return (
    <>
      <Passkeys />
      <AuthenticatorApp />
      <Password />
      <Section title={t('Where you are signed in')}>
        <SignedIn />
      </Section>
    </>
  );
}
