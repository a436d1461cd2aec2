import { useEffect, useState } from 'react';
import { ChatPage } from './chat-page.tsx';
import { type Device, forgetDevice, keepDevice, readDevice } from './device.ts';
import { PairPage } from './pair-page.tsx';
import { registerWorker } from './trusted-types.ts';

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
  const [newVersion, setNewVersion] = useState<(() => void) | null>(null);

  useEffect(() => {
    void readDevice().then((known) => setDevice(known ?? null));
    // Without it the app works all the same, but for its page without network.
    registerWorker((take) => setNewVersion(() => take)).catch(() => undefined);
  }, []);

  const pairWith = async (paired: Device) => {
    await keepDevice(paired);
    setCode(null);
    setDevice(paired);
  };
  const signOut = async () => {
    await forgetDevice();
    setDevice(null);
  };
  const reload = () => {
    navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
    newVersion?.();
  };

  return (
    <>
      {newVersion !== null && (
        <div className="bar" role="status">
          A new version is ready.
          <button type="button" className="plain-button" onClick={reload}>
            Load it
          </button>
        </div>
      )}
      {device === null && <PairPage code={code} onPaired={pairWith} />}
      {device != null && <ChatPage key={device.id} device={device} onSignedOut={() => void signOut()} onRenamed={setDevice} />}
    </>
  );
}
