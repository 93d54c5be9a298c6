/** Whether the labs of this process are on virtual time. */
export const settings = { isSimulated: false };
