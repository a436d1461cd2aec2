import { NewVersion } from '@svc/chat-ui/view/new-version.tsx';
import { useEffect, useState } from 'react';
import { ChatPage } from './chat-page.tsx';
import { type Device, forgetDevice, keepDevice, readDevice } from './device.ts';
import { PairPage } from './pair-page.tsx';
import { endPush } from './push.ts';

/** Takes the code out of the address, so that it stands in no history and no screenshot. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('pair');
  if (code !== null) history.replaceState(null, '', location.pathname);
  return code;
}

const codeOfLink = takeCode();

export function App() {
  const [device, setDevice] = useState<Device | null | undefined>(undefined);
  const [code, setCode] = useState(codeOfLink);

  useEffect(() => {
    void readDevice().then((known) => setDevice(known ?? null));
  }, []);

  const pairWith = async (paired: Device) => {
    await keepDevice(paired);
    setCode(null);
    setDevice(paired);
  };
  const signOut = async () => {
    // Whoever is paired here next decides whether they are told of answers.
    await endPush().catch(() => undefined);
    await forgetDevice();
    setDevice(null);
  };

  return (
    <>
      <NewVersion />
      {device === null && <PairPage code={code} onPaired={pairWith} />}
      {device != null && <ChatPage key={device.id} device={device} onSignedOut={() => void signOut()} onRenamed={setDevice} />}
    </>
  );
}
