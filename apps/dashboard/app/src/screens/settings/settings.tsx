import { Page, Section } from '../../parts/page.tsx';
import { Backups } from './backups.tsx';
import { Engines } from './engines.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { SignedIn } from './signed-in.tsx';
import { Updates } from './updates.tsx';

/** What the service works with: engines, backups, versions, and where somebody is signed in. */
export function Settings() {
  return (
    <Page title="Settings">
      <Section title="Engines">
        <Engines />
      </Section>
      <Backups />
      <Section title="Version">
        <Updates />
      </Section>
      <Passkeys />
      <Password />
      <Section title="Where you are signed in">
        <SignedIn />
      </Section>
    </Page>
  );
}
