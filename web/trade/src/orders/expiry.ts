/** Until when the order of the form is good, for the field that is loaded when it is shown. */
import { createContext } from "react";

/** The moment in UTC; empty before it is chosen. The draft has it, which outlives the field. */
export const ExpiryContext = createContext("");
