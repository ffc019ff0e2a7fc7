import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { beginPause, type Direction, endPause, type Pause, scopeText } from "../operator/pauses.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

const NOTICE_LENGTH_MAX = 200;

const CONSEQUENCES: Record<Direction, string> = {
  deposits:
    "Nobody gets a new address. What comes is recorded, and credited when the pause ends; addresses that exist are shown with a warning.",
  withdrawals:
    "New ones are refused before any funds are held. Those under way wait, and their users can cancel them.",
};

interface PauseDialogProps {
  asset: string;
  network: string;
  direction: Direction;
  onClose: () => void;
}

/** Pause deposits or withdrawals of a coin on a network, or of more. */
export function PauseDialog({ asset, network, direction, onClose }: PauseDialogProps) {
  const scopes = [
    { asset, network },
    { asset, network: null },
    { asset: null, network },
  ];
  const [chosen, setChosen] = useState("0");
  const [notice, setNotice] = useState("");
  const scope = scopes.find((_, place) => String(place) === chosen) ?? { asset, network };
  return (
    <ReasonDialog
      title={`Pause ${direction} of ${scopeText(scope)}?`}
      confirm="Pause them"
      danger
      act={(edge, reason) => beginPause(edge, scope, direction, notice.trim(), reason)}
      done={() => [`${scopeText(scope)}: ${direction} are paused`, "Every service knows it within seconds."]}
      onClose={onClose}
    >
      <p>{CONSEQUENCES[direction]}</p>
      <Select
        label="What is paused"
        data={scopes.map((one, place) => ({ value: String(place), label: scopeText(one) }))}
        value={chosen}
        allowDeselect={false}
        onChange={(value) => setChosen(value ?? "0")}
      />
      <TextInput
        label="Notice for users"
        description="They read it in their wallet. The reason below is for operators alone."
        maxLength={NOTICE_LENGTH_MAX}
        value={notice}
        onChange={(event) => setNotice(event.currentTarget.value)}
      />
    </ReasonDialog>
  );
}

/** End a pause. */
export function ResumeDialog({ pause, onClose }: { pause: Pause; onClose: () => void }) {
  return (
    <ReasonDialog
      title={`Resume ${pause.direction} of ${scopeText(pause)}?`}
      confirm="Resume them"
      act={(edge, reason) => endPause(edge, pause, reason)}
      done={() => [`${scopeText(pause)}: ${pause.direction} go on`, "What waited goes on by itself."]}
      onClose={onClose}
    >
      <p>
        {pause.pausedBy} paused them: {pause.reason}
      </p>
    </ReasonDialog>
  );
}
