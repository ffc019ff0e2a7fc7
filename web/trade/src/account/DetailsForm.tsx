import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { t } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import classes from "./Verification.module.css";
import { countries } from "./countries.ts";
import { VERIFICATION } from "./queries.ts";

type Details = Schemas["BasicInformationBody"];

const TEXT_LENGTH_MAX = 100;
const NOTHING: Details = {
  firstName: "",
  lastName: "",
  dateOfBirth: "",
  country: "",
  street: "",
  postalCode: "",
  city: "",
};

const FIELDS: readonly { name: keyof Details; label: string; autoComplete: string }[] = [
  {
    name: "firstName",
    get label() {
      return t("First name");
    },
    autoComplete: "given-name",
  },
  {
    name: "lastName",
    get label() {
      return t("Last name");
    },
    autoComplete: "family-name",
  },
  {
    name: "dateOfBirth",
    get label() {
      return t("Date of birth");
    },
    autoComplete: "bday",
  },
  {
    name: "country",
    get label() {
      return t("Country");
    },
    autoComplete: "off",
  },
  {
    name: "street",
    get label() {
      return t("Street and number");
    },
    autoComplete: "street-address",
  },
  {
    name: "postalCode",
    get label() {
      return t("Postal code");
    },
    autoComplete: "postal-code",
  },
  {
    name: "city",
    get label() {
      return t("City");
    },
    autoComplete: "address-level2",
  },
];

/** Name, birthday and address, which lead to the level Basic. */
export function DetailsForm({ title, isCorrection = false }: { title: string; isCorrection?: boolean }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(!isCorrection);
  const [details, setDetails] = useState(NOTHING);
  const [showsFaults, setShowsFaults] = useState(false);
  const data = useMemo(() => countries(), []);
  const submit = useMutation({
    mutationFn: () => {
      const body = Object.fromEntries(FIELDS.map(({ name }) => [name, details[name].trim()])) as Details;
      return returned(rest.POST("/api/v1/kyc/basic-info", { body }));
    },
    onSuccess: (status) => {
      client.setQueryData(VERIFICATION, status);
      toastDone(t("Your details are kept"), t("Your limit for withdrawals is on this page."));
      setDetails(NOTHING);
      setShowsFaults(false);
      setOpen(false);
    },
  });
  const isComplete = FIELDS.every(({ name }) => details[name].trim() !== "");
  const fault = (name: keyof Details, label: string) =>
    showsFaults && details[name].trim() === "" ? t("{label} is needed.", { label }) : null;
  const change = (name: keyof Details, value: string) =>
    setDetails((before) => ({ ...before, [name]: value }));
  if (!isOpen)
    return (
      <Card title={title}>
        <p className={classes.text}>
          {t("The exchange has your details. If they are wrong or old, give them again.")}
        </p>
        <Button variant="default" onClick={() => setOpen(true)}>
          {t("Give them again")}
        </Button>
      </Card>
    );
  return (
    <Card title={title}>
      <p className={classes.text}>
        {t("As they stand in your passport or identity card. You must be 18 or older.")}
      </p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setShowsFaults(true);
          if (isComplete && !submit.isPending) submit.mutate();
        }}
      >
        <div className={classes.fields}>
          {FIELDS.map(({ name, label, autoComplete }) =>
            name === "country" ? (
              <Select
                key={name}
                label={label}
                placeholder={t("Choose a country")}
                searchable
                nothingFoundMessage={t("No country of that name")}
                limit={60}
                data={data}
                value={details.country === "" ? null : details.country}
                error={fault(name, label)}
                onChange={(value) => change(name, value ?? "")}
              />
            ) : (
              <TextInput
                key={name}
                type={name === "dateOfBirth" ? "date" : "text"}
                label={label}
                value={details[name]}
                error={fault(name, label)}
                maxLength={TEXT_LENGTH_MAX}
                autoComplete={autoComplete}
                onChange={(event) => change(name, event.currentTarget.value)}
              />
            ),
          )}
        </div>
        <div className={classes.stack}>
          {submit.error && <ProblemNote problem={explain(submit.error)} />}
          <Button type="submit" variant={isCorrection ? "default" : "filled"} loading={submit.isPending}>
            {t("Send the details")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
