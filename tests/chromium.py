"""Chromium without a window, for the tests of pages."""

import contextlib
import shutil

from selenium import webdriver


@contextlib.contextmanager
def chromium(*arguments):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    quiet = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
    for argument in (*quiet, *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()
