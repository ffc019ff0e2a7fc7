"""The texts of mails and notifications in the languages of the pages. English stands where a text is made."""
